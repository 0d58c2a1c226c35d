// targets: divByZero, popEmptyArray, outOfBounds
// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Other targets than assertions.
contract Faults {
    uint[] list;

    function share(uint sum, uint parts) public pure returns (uint) {
        return sum / parts; // expect: unsafe
    }

    function rest(uint sum, uint parts) public pure returns (uint) {
        require(parts > 0);
        return sum % parts; // expect: safe
    }

    function push() public {
        list.push(1);
    }

    function pop() public {
        if (list.length > 0)
            list.pop(); // expect: safe
    }

    function popTwice() public {
        require(list.length > 1);
        list.pop(); // expect: safe
        list.pop(); // expect: safe
    }

    function first() public view returns (uint) {
        return list[0]; // expect: unsafe
    }
}
