// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// A mapping to structs, with a counter of those in use.
contract Accounts {
    struct Account {
        uint balance;
        uint deadline;
        bool open;
    }

    mapping(address => Account) accounts;
    uint opened;

    function open(uint deadline) public {
        Account storage account = accounts[msg.sender];
        require(!account.open && deadline > 0);
        account.open = true;
        account.deadline = deadline;
        opened += 1;
        assert(opened > 0); // expect: safe
    }

    function deposit(uint amount) public {
        require(accounts[msg.sender].open);
        require(amount < 1000 && accounts[msg.sender].balance < 1000);
        uint before = accounts[msg.sender].balance;
        accounts[msg.sender].balance += amount;
        assert(accounts[msg.sender].balance >= before); // expect: safe
    }

    function anyone(address who) public view {
        assert(opened > 0 || !accounts[who].open); // expect: safe
    }

    function bounded(address who) public view {
        assert(accounts[who].balance < 1500); // expect: unsafe
    }
}
