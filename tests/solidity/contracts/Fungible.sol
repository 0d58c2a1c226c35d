// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// An ERC-20 token in the style of OpenZeppelin, with internal functions.
interface IERC20 {
    function totalSupply() external view returns (uint);
    function transfer(address to, uint amount) external returns (bool);
    function approve(address spender, uint amount) external returns (bool);
    function transferFrom(address from, address to, uint amount) external returns (bool);
}

abstract contract Basic is IERC20 {
    mapping(address => uint) internal balances;
    mapping(address => mapping(address => uint)) internal allowances;
    uint internal supply;

    function totalSupply() external view override returns (uint) {
        return supply;
    }

    function transfer(address to, uint amount) external override returns (bool) {
        move(msg.sender, to, amount);
        return true;
    }

    function approve(address spender, uint amount) external override returns (bool) {
        require(spender != address(0));
        allowances[msg.sender][spender] = amount;
        return true;
    }

    function transferFrom(address from, address to, uint amount) external override returns (bool) {
        uint current = allowances[from][msg.sender];
        if (current != type(uint).max) {
            require(current >= amount);
            unchecked {
                allowances[from][msg.sender] = current - amount;
            }
            assert(allowances[from][msg.sender] <= current); // expect: safe
        }
        move(from, to, amount);
        return true;
    }

    function move(address from, address to, uint amount) internal {
        require(from != address(0) && to != address(0));
        uint balance = balances[from];
        require(balance >= amount);
        unchecked {
            balances[from] = balance - amount;
            balances[to] += amount;
        }
        assert(from == to || balances[from] == balance - amount); // expect: safe
    }
}

contract Fungible is Basic {
    uint constant CAP = 10000;

    function mint(address to, uint amount) external {
        require(to != address(0) && amount <= CAP && supply <= CAP - amount);
        supply += amount;
        unchecked {
            balances[to] += amount;
        }
        assert(supply <= CAP); // expect: safe
    }

    function capped() external view {
        assert(supply <= CAP); // expect: safe
        assert(supply != CAP); // expect: unsafe
    }
}
